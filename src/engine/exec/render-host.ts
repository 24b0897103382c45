// What templates can access when a function renders them: the function's own context.
import type { Loader } from '../../extend/loader/index.ts';
import type { ModuleContext } from '../../extend/sdk/index.ts';
import { fromTemplate } from '../python/templates.ts';
import type { RenderHost } from '../render/index.ts';

export function renderHost(loader: Loader, context: ModuleContext): RenderHost {
  return {
    loader,
    log: context.log,
    opts: context.opts,
    grains: context.grains,
    pillar: context.pillar,
    signal: context.signal,
    run: context.job,
    files: {
      async cacheFile(url, saltenv) {
        const path = await context.files.cacheFile(url, { saltenv });
        return path ? { path } : undefined;
      },
    },
    functions: {
      modules: async () => new Set(await loader.names('modules')),
      has: async (fun) => (await loader.find('modules', fun)) !== undefined,
      call: (fun, args, kwargs) => fromTemplate(fun, () => context.callWith(fun, args, kwargs)),
    },
    exec: (file, args, options) => context.exec(file, args, options),
  };
}
