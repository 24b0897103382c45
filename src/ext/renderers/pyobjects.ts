// Renderer `pyobjects`: Python, which runs in the worker of the job.
import { defineRenderer } from 'halite/sdk';
import { runPython } from './shared/python.ts';

export default defineRenderer({
  name: 'pyobjects',
  doc: "The file builds states in Python: `File.managed('/etc/motd', contents='hello')`, `with`, `include`, `extend`, maps and `salt://` imports, as in Salt.",
  input: 'text',
  output: 'data',
  render: (source, ctx) => runPython('pyobjects', source as string, ctx),
});
