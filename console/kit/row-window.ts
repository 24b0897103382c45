// Rows of a long list on the server: pages are loaded when they come into view, and only a few are kept.
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { Problem } from '../api/http.ts';
import type { Fields, Page } from '../api/read.ts';
import { linkRenewals } from '../live/link.ts';

const pageSize = 100;
const mostPages = 20;

type FetchPage = (offset: number, limit: number, signal: AbortSignal) => Promise<Page>;

function makeWindow<Row>(fetchPage: FetchPage, read: (fields: Fields) => Row) {
  const pages = new Map<number, Row[]>();
  const asked = new Set<number>();
  const abort = new AbortController();
  const total = signal<number | undefined>(undefined);
  const problem = signal<Problem | undefined>(undefined);
  /** Rows changed. */
  const changes = signal(0);
  let [first, last] = [0, pageSize];

  const load = async (page: number): Promise<void> => {
    if (asked.has(page)) return;
    asked.add(page);
    try {
      const found = await fetchPage(page * pageSize, pageSize, abort.signal);
      pages.delete(page);
      pages.set(page, found.rows.map(read));
      for (const old of [...pages.keys()].slice(0, Math.max(0, pages.size - mostPages))) pages.delete(old);
      total.value = found.total;
      problem.value = undefined;
      changes.value += 1;
    } catch (error) {
      if (!abort.signal.aborted) problem.value = error instanceof Problem ? error : new Problem(0, String(error));
    } finally {
      asked.delete(page);
    }
  };
  const visible = (): number[] => {
    const from = Math.floor(first / pageSize);
    const to = Math.floor(Math.max(first, last - 1) / pageSize);
    return Array.from({ length: Math.min(to - from + 1, mostPages) }, (_, at) => from + at);
  };
  return {
    ...{ total, problem, changes },
    rowAt: (index: number): Row | undefined => pages.get(Math.floor(index / pageSize))?.[index % pageSize],
    show: (from: number, to: number): void => {
      [first, last] = [from, to];
      for (const page of visible()) if (!pages.has(page)) void load(page);
    },
    /** Loads what is visible again; the rest when it comes into view. */
    reload: (): void => {
      const shown = visible();
      for (const page of [...pages.keys()]) if (!shown.includes(page)) pages.delete(page);
      for (const page of shown) void load(page);
    },
    change: (index: number, alter: (row: Row) => Row): void => {
      const rows = pages.get(Math.floor(index / pageSize));
      const row = rows?.[index % pageSize];
      if (!rows || row === undefined) return;
      rows[index % pageSize] = alter(row);
      changes.value += 1;
    },
    stop: (): void => abort.abort(),
  };
}

export type RowWindow<Row> = ReturnType<typeof makeWindow<Row>>;

export function useRowWindow<Row>(
  fetchPage: FetchPage,
  read: (fields: Fields) => Row,
  inputs: readonly unknown[],
): RowWindow<Row> {
  const rows = useMemo(() => makeWindow(fetchPage, read), inputs);
  const renewals = linkRenewals.value;
  useEffect(() => {
    rows.show(0, pageSize);
    return () => rows.stop();
  }, [rows]);
  useEffect(() => {
    if (renewals > 0) rows.reload();
  }, [renewals]);
  return rows;
}
