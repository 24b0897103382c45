// Renderer `jinja`: templates with the names and filters of Salt.
import { defineRenderer, RenderError } from 'halite/sdk';

export default defineRenderer({
  name: 'jinja',
  doc: 'Renders a Jinja template with the variables salt, grains, pillar, opts, saltenv, sls, tplfile, tpldir, slspath and others.',
  input: 'text',
  output: 'text',
  render(source, ctx) {
    // In Salt, -s means that the source is text and not a file, which it always is here.
    if (ctx.argline && ctx.argline !== '-s') throw new RenderError(`Unknown renderer option: ${ctx.argline}`);
    return ctx.jinja(source as string);
  },
});
