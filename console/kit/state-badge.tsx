// The state of a minion: a shape beside the colour.
import { word } from '../text/text.ts';

export function StateBadge({ state, title }: { readonly state: string; readonly title?: string }) {
  return (
    <span class="state" title={title}>
      <span class={`dot s-${state}`} aria-hidden="true" />
      {word('state', state)}
    </span>
  );
}
