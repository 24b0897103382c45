// Names inside filters and distinguished names of LDAP: whatever a user types stays one value.

/** RFC 4515. */
export const inFilter = (text: string): string =>
  text.replace(/[\\*()\x00]/g, (found) => `\\${found.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** RFC 4514; a name in front of `@domain` of Active Directory has none of these characters. */
export const inName = (text: string): string =>
  text
    .replace(/[\\,+"<>;=#]/g, (found) => `\\${found}`)
    .replace(/\0/g, '\\00')
    .replace(/^ | $/g, '\\ ');

/** Salt's place for the name: `{{ username }}`. */
export const fill = (template: string, name: string, escaped: (text: string) => string): string =>
  template.replace(/\{\{\s*username\s*\}\}/g, () => escaped(name));

/** The value of the first part of a distinguished name: `cn=ops,ou=Groups` → ops. */
export function firstPart(dn: string): string | undefined {
  const [, value] = /^\s*[\w.-]+\s*=\s*((?:\\.|[^,+\\])*)/.exec(dn) ?? [];
  if (value === undefined) return undefined;
  return value
    .trim()
    .replace(/\\([0-9a-fA-F]{2}|.)/g, (_whole, code: string) =>
      code.length === 2 ? String.fromCharCode(Number.parseInt(code, 16)) : code,
    );
}
