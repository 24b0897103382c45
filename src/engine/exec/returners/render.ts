// Templates in the options of returners (subjects of mails): the renderers of states, without files and functions.
import type { PlainDict, Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { Loader } from '../../../extend/loader/index.ts';
import type { ExtensionLog } from '../../../extend/sdk/index.ts';
import { execProgram } from '../exec.ts';
import type { OptionSources } from './options.ts';

export async function renderForReturner(
  loader: Loader,
  request: OptionSources & { readonly log: ExtensionLog; readonly signal: AbortSignal },
  source: string,
  context: PlainDict,
): Promise<Value> {
  const { renderText } = await import('../../render/index.ts');
  // The line that names renderers is not part of the text.
  const line = /^#!([^\n]+)(?:\n|$)/.exec(source);
  const { opts, grains, pillar, log, signal } = request;
  return renderText(
    {
      ...{ loader, opts, grains, pillar, log, signal },
      files: { cacheFile: async () => undefined },
      functions: {
        modules: async () => new Set<string>(),
        has: async () => false,
        call: async (fun) => {
          throw new HaliteError('call.unknown', `Templates of returners cannot call ${fun}`);
        },
      },
      exec: (file, args, options = {}) => execProgram(file, args, options, signal),
    },
    source.slice(line?.[0].length ?? 0),
    { context, pipe: line?.[1]?.trim() ?? 'jinja' },
  );
}
