// Renderer `cheetah`: a template engine of Python.
import { defineRenderer } from 'halite/sdk';
import { runPython } from './shared/python.ts';

export default defineRenderer({
  name: 'cheetah',
  doc: 'Renders a cheetah template with the Python library Cheetah3, which has to be installed for the Python that Halite uses.',
  input: 'text',
  output: 'text',
  render: (source, ctx) => runPython('cheetah', source as string, ctx),
});
