// One square for each minion on one canvas: ten thousand elements would be too slow. Only squares that changed are drawn.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { theme } from '../state/settings.ts';
import { t } from '../text/text.ts';
import { isVerdictCode, type VerdictCode, verdictWord } from './verdicts.tsx';

export interface VerdictGridProps {
  readonly ids: readonly string[];
  readonly codeAt: (index: number) => string;
  /** Changes with every change of a code. */
  readonly version: number;
  readonly onOpen: (index: number) => void;
}

/** Drawing stops for the next frame after this time; the clock is looked at after so many squares. */
const drawingMs = 8;
const squaresPerLook = 64;

interface Layout {
  readonly columns: number;
  readonly size: number;
  readonly rows: number;
}

const layoutOf = (count: number, width: number): Layout => {
  const size = count > 4000 ? 8 : count > 800 ? 11 : count > 150 ? 16 : 22;
  const columns = Math.max(1, Math.floor(width / size));
  return { columns, size, rows: Math.max(1, Math.ceil(count / columns)) };
};

type Palette = Readonly<Record<VerdictCode, string>> & { readonly paper: string };

function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  const code = (name: VerdictCode): string => read(`--v-${name}`);
  return {
    ...{ o: code('o'), c: code('c'), f: code('f'), m: code('m'), d: code('d'), x: code('x') },
    ...{ r: code('r'), q: code('q'), w: code('w'), paper: read('--card') },
  };
}

/** Shapes beside colours: filled, crossed, hollow, a corner, a dot. */
function drawSquare(
  pen: CanvasRenderingContext2D,
  code: VerdictCode,
  x: number,
  y: number,
  size: number,
  colors: Palette,
): void {
  pen.fillStyle = colors.paper;
  pen.fillRect(x, y, size, size);
  const side = size - 2;
  pen.fillStyle = colors[code];
  pen.strokeStyle = colors[code];
  pen.lineWidth = Math.max(1, size / 9);
  if (code === 'w' || code === 'r' || code === 'q') {
    const dot = code === 'w' ? side / 3 : side * 0.7;
    pen.fillRect(x + 1 + (side - dot) / 2, y + 1 + (side - dot) / 2, dot, dot);
    return;
  }
  if (code === 'm' || code === 'd' || code === 'x') {
    pen.strokeRect(x + 1.5, y + 1.5, side - 1, side - 1);
    if (code !== 'm') line(pen, x + 2, y + size - 2, x + size - 2, y + 2);
    return;
  }
  pen.fillRect(x + 1, y + 1, side, side);
  if (code === 'o') return;
  pen.strokeStyle = colors.paper;
  if (code === 'f') line(pen, x + 3, y + 3, x + size - 3, y + size - 3);
  line(pen, x + 3, y + size - 3, x + size - 3, y + 3);
}

function line(pen: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

export function VerdictGrid({ ids, codeAt, version, onOpen }: VerdictGridProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<string[]>([]);
  const [width, setWidth] = useState(0);
  const [at, setAt] = useState<number | undefined>(undefined);
  const layout = layoutOf(ids.length, width);
  const look = theme.value;

  useLayoutEffect(() => {
    const parent = canvas.current?.parentElement;
    if (!parent) return undefined;
    const watch = new ResizeObserver(() => setWidth(parent.clientWidth));
    watch.observe(parent);
    setWidth(parent.clientWidth);
    return () => watch.disconnect();
  }, []);

  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element || width === 0) return;
    const ratio = globalThis.devicePixelRatio || 1;
    element.width = layout.columns * layout.size * ratio;
    element.height = layout.rows * layout.size * ratio;
    element.style.width = `${layout.columns * layout.size}px`;
    element.style.height = `${layout.rows * layout.size}px`;
    element.getContext('2d')?.scale(ratio, ratio);
    drawn.current = [];
  }, [width, ids.length, look, layout.size]);

  useEffect(() => {
    let frame = 0;
    let next = 0;
    const draw = (): void => {
      const element = canvas.current;
      const pen = element?.getContext('2d');
      if (!element || !pen || width === 0) return;
      const colors = paletteOf(element);
      const until = performance.now() + drawingMs;
      for (; next < ids.length; next++) {
        const code = codeAt(next);
        if (drawn.current[next] === code || !isVerdictCode(code)) continue;
        drawn.current[next] = code;
        const [x, y] = [(next % layout.columns) * layout.size, Math.floor(next / layout.columns) * layout.size];
        drawSquare(pen, code, x, y, layout.size, colors);
        if (next % squaresPerLook === 0 && performance.now() > until) break;
      }
      if (next < ids.length) frame = requestAnimationFrame(draw);
    };
    frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [version, width, ids, look]);

  const indexAt = (event: MouseEvent): number | undefined => {
    const index = Math.floor(event.offsetY / layout.size) * layout.columns + Math.floor(event.offsetX / layout.size);
    return index >= 0 && index < ids.length ? index : undefined;
  };
  const onKey = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: layout.columns,
      ArrowUp: -layout.columns,
    };
    const step = steps[event.key];
    if (step !== undefined) setAt(Math.max(0, Math.min(ids.length - 1, (at ?? -step) + step)));
    else if (event.key === 'Enter' && at !== undefined) onOpen(at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const open = (event: MouseEvent): void => {
    const index = indexAt(event);
    if (index !== undefined) onOpen(index);
  };
  const code = at === undefined ? '' : codeAt(at);
  const told = at === undefined ? '' : `${ids[at] ?? ''}: ${isVerdictCode(code) ? verdictWord(code) : ''}`;
  return (
    <div class="verdict-grid">
      <div
        class="grid-box"
        role="application"
        tabIndex={0}
        aria-label={t('job.gridLabel', { n: ids.length })}
        aria-describedby="grid-told"
        onMouseMove={(event) => setAt(indexAt(event))}
        onClick={open}
        onKeyDown={onKey}
      >
        <canvas ref={canvas} aria-hidden="true" />
      </div>
      <p id="grid-told" class="grid-told" aria-live="polite">
        {told || t('job.gridHint')}
      </p>
    </div>
  );
}
