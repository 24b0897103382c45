// Renderer `py`: Python, which runs in the worker of the job.
import { defineRenderer } from 'halite/sdk';
import { runPython } from './shared/python.ts';

export default defineRenderer({
  name: 'py',
  doc: "`run()` of the file gives the data. The file is a Python module with Salt's names: `salt`, `grains`, `pillar`, `opts`, `saltenv`, `sls`, each also with two underscores on both sides (`__salt__`).",
  input: 'text',
  output: 'same',
  render: (source, ctx) => runPython('py', source as string, ctx),
});
