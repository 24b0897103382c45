// Runner `auth`: tokens of external authentication.
import { defineRunner, HaliteError, type MasterContext, masterFn, p, type Value } from 'halite/sdk';

/** As many characters as a list shows are enough to name a token. */
const fewest = 8;

async function whole(ctx: MasterContext, token: string): Promise<string> {
  if (token.length < fewest) throw new HaliteError('call.arguments', `give at least ${fewest} characters of the token`);
  const found = (await ctx.master.logins.list()).map((each) => each.token).filter((each) => each.startsWith(token));
  if (found.length > 1) throw new HaliteError('call.arguments', `${found.length} tokens begin with ${token}`);
  return found[0] ?? token;
}

export default defineRunner({
  name: 'auth',
  doc: 'Tokens of external authentication.',
  functions: {
    mk_token: masterFn({
      doc: 'Make a token for a name and a password.',
      examples: ["salt-run auth.mk_token eauth=pam username=fred password='it is secret'"],
      params: {
        eauth: p.string({ doc: 'the module of external_auth' }),
        username: p.string({ doc: 'the name' }),
        password: p.string({ doc: 'the password' }),
        token_expire: p.float({ default: null, doc: 'seconds, where token_expire_user_override permits a choice' }),
      },
      async run({ eauth, username, password, token_expire: seconds }, ctx): Promise<Value> {
        return ctx.master.logins.make({ eauth, username, password }, seconds ?? undefined);
      },
    }),
    del_token: masterFn({
      doc: 'Delete a token, so that it is refused from now on. True when there was one.',
      params: { token: p.string({ doc: 'the token, or as many of its characters as list_tokens shows' }) },
      run: async ({ token }, ctx) => ctx.master.logins.drop(await whole(ctx, token)),
    }),
    list_tokens: masterFn({
      doc: 'Valid tokens by their first characters: whose they are, and until when.',
      async run(_args, ctx) {
        const shown = (await ctx.master.logins.list()).map(({ token, name, eauth, start, expire }) => {
          const time = (seconds: number): string => new Date(seconds * 1000).toISOString();
          return [token.slice(0, fewest), { name, eauth, start: time(start), expire: time(expire) }] as const;
        });
        return Object.fromEntries(shown);
      },
    }),
  },
});
