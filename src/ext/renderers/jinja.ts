// Renderer `jinja`: templates with the names and filters of Salt.
import { defineRenderer, RenderError } from 'halite/sdk';

export default defineRenderer({
  name: 'jinja',
  doc: 'Renders a Jinja template. Sees salt, grains, pillar, opts, saltenv, sls and the names of its place (tplfile, tpldir, slspath).',
  input: 'text',
  output: 'text',
  render(source, ctx) {
    // Salt: -s says that the source is text and not a file, which it always is here.
    if (ctx.argline && ctx.argline !== '-s') throw new RenderError(`Unknown renderer option: ${ctx.argline}`);
    return ctx.jinja(source as string);
  },
});
