// Renderer `js`: an SLS file as a JavaScript module.
import { defineRenderer } from 'halite/sdk';
import { runModule, withoutShebang } from './shared/code.ts';

export default defineRenderer({
  name: 'js',
  doc: `Runs the file as a JavaScript module. Its default export is the data, or a function (also an async one) that makes it from
{ salt, grains, pillar, opts, saltenv, sls }:

    #!js
    export default async ({ salt, grains }) => ({
      nginx: { 'pkg.installed': grains.os_family === 'Debian' ? [{ name: 'nginx-light' }] : [] },
      motd: { 'file.managed': [{ name: '/etc/motd' }, { contents: await salt('test.echo', 'hello') }] },
    });

The file can import Node's own modules and nothing else.`,
  input: 'text',
  output: 'data',
  render: (source, ctx) => runModule(withoutShebang(source as string), ctx),
});
