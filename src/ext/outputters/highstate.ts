// Outputter `highstate`: results of states, one block or line per state, with a summary per minion.
import { defineOutputter } from 'halite/sdk';
import { renderHosts } from './shared/highstate/host.ts';
import { highstateStyle } from './shared/highstate/style.ts';

export default defineOutputter({
  name: 'highstate',
  doc: 'State results: what ran, what changed, how long it took; --state-output chooses the style.',
  render: (data, options) => renderHosts(data, highstateStyle(options), 1),
});
