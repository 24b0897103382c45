// Renderers of Salt that Halite does not have, and what to do instead.

const format = 'the format is not built in. Use YAML or JSON, or add a renderer of that name to salt://_renderers';
const decryption =
  'this kind of decryption is not built in. Use gpg, or add a renderer of that name to salt://_renderers';

const reasons: Readonly<Record<string, string>> = {
  dson: format,
  msgpack: format,
  nacl: decryption,
  aws_kms: decryption,
};

/** Why a renderer that exists in Salt cannot be used; undefined for unknown names. */
export function refusalOf(name: string): string | undefined {
  if (!Object.hasOwn(reasons, name)) return undefined;
  return `The renderer "${name}" is not available: ${reasons[name]}.`;
}
