// Renderer `pydsl`: Python, which runs in the worker of the job.
import { defineRenderer } from 'halite/sdk';
import { runPython } from './shared/python.ts';

export default defineRenderer({
  name: 'pydsl',
  doc: "The file builds states in Python: `state('nginx').pkg.installed()`.",
  input: 'text',
  output: 'data',
  render: (source, ctx) => runPython('pydsl', source as string, ctx),
});
