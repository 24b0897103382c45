// Renderer `wempy`: a template engine of Python.
import { defineRenderer } from 'halite/sdk';
import { runPython } from './shared/python.ts';

export default defineRenderer({
  name: 'wempy',
  doc: 'Renders a wempy template with the Python library wemplate, which has to be installed for the Python that Halite uses.',
  input: 'text',
  output: 'text',
  render: (source, ctx) => runPython('wempy', source as string, ctx),
});
