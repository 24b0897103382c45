// Renderer `genshi`: a template engine of Python.
import { defineRenderer } from 'halite/sdk';
import { runPython } from './shared/python.ts';

export default defineRenderer({
  name: 'genshi',
  doc: 'Renders a genshi template with the Python library Genshi, which has to be installed for the Python that Halite uses.',
  input: 'text',
  output: 'text',
  render: (source, ctx) => runPython('genshi', source as string, ctx),
});
