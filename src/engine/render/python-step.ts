// Renderers of Python see the functions and data of the pipe, under Salt's names.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { RendererContext, RenderRequest } from '../../extend/sdk/index.ts';
import type { RenderHost } from './host.ts';
import { slsNames } from './sls-context.ts';

export function pythonOf(host: RenderHost, request: RenderRequest): Pick<RendererContext, 'python'> {
  const { python } = host.loader;
  if (!python) return {};
  return {
    async python(renderer, source) {
      const { opts, grains, pillar, signal } = host;
      const caller = {
        ...{ opts, grains, pillar, signal },
        callWith: (fun: string, args: readonly Value[], kwargs: PlainDict) => host.functions.call(fun, args, kwargs),
      };
      const rendering = { renderer, path: request.path ?? '', text: source, variables: variablesOf(renderer, request) };
      return (await python()).render(rendering, caller, host.loader);
    },
  };
}

function variablesOf(renderer: string, { path, saltenv, sls, context }: RenderRequest): PlainDict {
  const names = newDict([
    ['saltenv', saltenv || 'base'],
    ['sls', sls ?? ''],
    ...Object.entries(slsNames(path, sls ?? '')),
    ...Object.entries(context ?? {}),
  ]);
  if (path !== undefined) names['tmplpath'] = path;
  // Salt gives them to `template: py` under this name only. To Mako the name means something else.
  if (renderer === 'py') names['context'] ??= newDict(Object.entries(context ?? {}));
  return names;
}
