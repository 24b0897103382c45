// Output of programs: colours of terminals become spans, everything else stays text.
import { parseAnsi } from './ansi.ts';

export function Output({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    // What scrolls must be reachable by keyboard.
    <section class="output" tabIndex={0} aria-label={label}>
      <pre>
        {parseAnsi(text).map(({ text: part, class: style }, at) =>
          style === '' ? (
            part
          ) : (
            <span key={at} class={style}>
              {part}
            </span>
          ),
        )}
      </pre>
    </section>
  );
}
