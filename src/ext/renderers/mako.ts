// Renderer `mako`: a template engine of Python.
import { defineRenderer } from 'halite/sdk';
import { runPython } from './shared/python.ts';

export default defineRenderer({
  name: 'mako',
  doc: 'Renders a mako template with the Python library Mako, which has to be installed for the Python that Halite uses.',
  input: 'text',
  output: 'text',
  render: (source, ctx) => runPython('mako', source as string, ctx),
});
