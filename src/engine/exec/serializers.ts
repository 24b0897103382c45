// Serializers of users, for the functions of one context.
import type { Loader } from '../../extend/loader/index.ts';
import type { ModuleContext, UserSerializer } from '../../extend/sdk/index.ts';

export async function userSerializer(
  loader: Loader,
  name: string,
  ctx: ModuleContext,
): Promise<UserSerializer | undefined> {
  const found = (await loader.get('serializers', name))?.extension;
  if (!found) return undefined;
  return {
    ...(found.serialize && { serialize: async (value, options) => found.serialize!(value, options, ctx) }),
    ...(found.deserialize && { deserialize: async (source, options) => found.deserialize!(source, options, ctx) }),
  };
}
