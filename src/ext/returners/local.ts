// Returner `local`: prints results and events, for debugging.
import { defineReturner, pyStr, type Value } from 'halite/sdk';
import { visibleText } from 'halite/sdk/text';

export default defineReturner({
  name: 'local',
  doc: 'Prints results and events to the console (a daemon: to its log), for debugging.',
  keeps: ['events'],
  options: {},
  open() {
    const print = (value: Value) =>
      new Promise<void>((resolve) => void process.stdout.write(`${visibleText(pyStr(value))}\n`, () => resolve()));
    return {
      save: print,
      saveEvents: (events) => print(events.map(({ tag, data }) => ({ tag, data }))),
    };
  },
});
