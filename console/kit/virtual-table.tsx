// A table of which only the visible rows exist: ten thousand minions cost as much as fifty.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface Column<Row> {
  readonly name: string;
  readonly label: string;
  /** As in `grid-template-columns`. */
  readonly width: string;
  readonly render: (row: Row) => ComponentChildren;
  readonly sortable?: boolean;
  /** Left out where there is no room. */
  readonly wide?: boolean;
}

export interface VirtualTableProps<Row> {
  readonly label: string;
  readonly total: number;
  readonly columns: readonly Column<Row>[];
  /** Undefined while the row is not loaded. */
  readonly rowAt: (index: number) => Row | undefined;
  readonly onWindow?: (first: number, last: number) => void;
  readonly onOpen?: (row: Row) => void;
  readonly onSelect?: (row: Row) => void;
  readonly isSelected?: (row: Row) => boolean;
  readonly sort?: string;
  readonly onSort?: (sort: string) => void;
  /** Height of the whole in rows. */
  readonly rows?: number;
}

const rowHeight = 40;
/** Rows above and below the visible ones. */
const margin = 8;

const movesOf = (page: number): Readonly<Record<string, number>> => ({
  ...{ ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page },
  ...{ Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY },
});

export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { label, total, columns, rowAt, onWindow, rows = 14 } = props;
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(rows * rowHeight);
  const [active, setActive] = useState(0);
  const focusRow = useRef(false);
  const first = Math.max(0, Math.floor(top / rowHeight) - margin);
  const last = Math.min(total, Math.ceil((top + height) / rowHeight) + margin);
  useEffect(() => onWindow?.(first, last), [first, last, total, onWindow]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => setHeight(element.clientHeight));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (!focusRow.current) return;
    focusRow.current = false;
    box.current?.querySelector<HTMLElement>(`[data-row="${active}"]`)?.focus({ preventScroll: true });
  }, [active, top]);
  const current = Math.min(active, Math.max(0, total - 1));

  const move = (to: number): void => {
    const next = Math.max(0, Math.min(total - 1, to));
    const element = box.current;
    if (element) {
      const [start, end] = [next * rowHeight, (next + 2) * rowHeight];
      if (start < element.scrollTop) element.scrollTop = start;
      else if (end > element.scrollTop + element.clientHeight) element.scrollTop = end - element.clientHeight;
      setTop(element.scrollTop);
    }
    focusRow.current = true;
    setActive(next);
  };

  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || !isRow(event.target)) return;
    const step = movesOf(Math.max(1, Math.floor(height / rowHeight) - 1))[event.key];
    const row = rowAt(current);
    if (step !== undefined) move(Number.isFinite(step) ? current + step : step > 0 ? total : 0);
    else if (event.key === 'Enter' && row) props.onOpen?.(row);
    else if ((event.key === 'x' || event.key === ' ') && row) props.onSelect?.(row);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const indexes = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
  return (
    <div
      class="table-box"
      ref={box}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      style={{ maxHeight: `${(rows + 1) * rowHeight}px` }}
    >
      <div
        class="table"
        role="grid"
        aria-label={label}
        aria-rowcount={total + 1}
        aria-colcount={columns.length}
        onKeyDown={onKey}
        style={{
          '--columns': columns.map(({ width }) => width).join(' '),
          '--narrow': columns
            .filter(({ wide }) => !wide)
            .map(({ width }) => width)
            .join(' '),
        }}
      >
        <HeadRow {...props} />
        <div class="table-body" role="rowgroup" style={{ height: `${total * rowHeight}px` }}>
          {indexes.map((index) => (
            <BodyRow
              key={index}
              index={index}
              focusable={index === current}
              onFocus={() => setActive(index)}
              {...props}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

const isRow = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.dataset['row'] !== undefined;

function HeadRow<Row>({ columns, sort, onSort }: VirtualTableProps<Row>) {
  return (
    <div role="rowgroup" class="table-head">
      <div role="row" aria-rowindex={1} class="table-row" tabIndex={-1}>
        {columns.map(({ name, label, sortable, wide }, at) => {
          const order = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none';
          const next = order === 'ascending' ? `-${name}` : name;
          return (
            <div
              key={name}
              role="columnheader"
              class={wide ? 'wide' : ''}
              aria-colindex={at + 1}
              tabIndex={-1}
              {...(sortable ? { 'aria-sort': order } : {})}
            >
              {sortable && onSort ? (
                <button type="button" class="sort" onClick={() => onSort(next)}>
                  {label}
                  <span aria-hidden="true">{order === 'none' ? '' : order === 'ascending' ? ' ↑' : ' ↓'}</span>
                </button>
              ) : (
                label
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface BodyRowProps<Row> extends VirtualTableProps<Row> {
  readonly index: number;
  readonly focusable: boolean;
  readonly onFocus: () => void;
}

function BodyRow<Row>({ index, focusable, onFocus, columns, rowAt, onOpen, isSelected }: BodyRowProps<Row>) {
  const row = rowAt(index);
  const selected = row !== undefined && isSelected !== undefined ? { 'aria-selected': isSelected(row) } : {};
  const open = (event: MouseEvent): void => {
    if (row === undefined || (event.target instanceof Element && event.target.closest('a, button, input, label')))
      return;
    if (String(getSelection()) === '') onOpen?.(row);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid hears the keys of its rows
    <div
      role="row"
      aria-rowindex={index + 2}
      data-row={index}
      class={`table-row ${onOpen ? 'opens' : ''}`}
      tabIndex={focusable ? 0 : -1}
      style={{ transform: `translateY(${index * rowHeight}px)` }}
      onClick={open}
      onFocus={onFocus}
      {...selected}
    >
      {columns.map(({ name, render, wide }, at) => (
        <div key={name} role="gridcell" class={wide ? 'wide' : ''} aria-colindex={at + 1} tabIndex={-1}>
          {row === undefined ? <span class="ghost" /> : render(row)}
        </div>
      ))}
    </div>
  );
}
