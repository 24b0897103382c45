// State module `postgres_extension`: extensions in databases of PostgreSQL.
import { defineState, needsFunction, newDict, p, state } from 'halite/sdk';
import { installedState, notInstalled } from '../../shared/postgres/extension-actions.ts';
import { dbArgs, dbParams, removal } from '../shared/postgres.ts';

const name = p.string({ doc: 'the extension' });
const { user, maintenance_db, db_user, db_password, db_host, db_port } = dbParams;
const connection = { user, maintenance_db, db_user, db_password, db_host, db_port };

export default defineState({
  name: 'postgres_extension',
  doc: 'Extensions in databases of PostgreSQL.',
  available: needsFunction(
    'postgres.create_extension',
    'Unable to load postgres module.  Make sure `postgres.bins_dir` is set.',
  ),
  functions: {
    present: state({
      doc: 'An extension that shall be installed.',
      examples: ['hstore:\n  postgres_extension.present:\n    - maintenance_db: shop'],
      params: {
        name,
        if_not_exists: p.any({ default: null, doc: 'no failure if it is there' }),
        schema: p.any({ default: null, doc: 'schema it is in' }),
        ext_version: p.any({ default: null, doc: 'its version' }),
        from_version: p.any({ default: null, doc: 'version that was there without being an extension' }),
        ...connection,
      },
      async run(args, ctx) {
        const { if_not_exists, schema, ext_version, from_version } = args;
        const at = dbArgs(args);
        const known = await ctx.callWith('postgres.create_metadata', [args.name], { schema, ext_version, ...at });
        const flags = Array.isArray(known) ? known : [];
        const mode = flags.includes(notInstalled)
          ? 'install'
          : flags.includes(installedState) && flags.length > 1
            ? 'upgrade'
            : undefined;
        if (mode === undefined) return ctx.ok(`Extension ${args.name} is already present`);
        const done = mode === 'install' ? 'installed' : 'upgraded';
        const changes = newDict([[args.name, `${done.charAt(0).toUpperCase()}${done.slice(1)}`]]);
        return ctx.change(changes, `The extension ${args.name} has been ${done}`, {
          test: `Extension ${args.name} is set to be ${done}`,
          testChanges: newDict(),
          async apply() {
            const kwargs = { name: args.name, if_not_exists, schema, ext_version, from_version, ...at };
            const fine = await ctx.callWith('postgres.create_extension', [], kwargs);
            return fine ? undefined : ctx.fail(`Failed to ${mode} extension ${args.name}`);
          },
        });
      },
    }),
    absent: state({
      doc: 'An extension that shall not be installed.',
      examples: ['hstore:\n  postgres_extension.absent:\n    - maintenance_db: shop'],
      params: {
        name,
        if_exists: p.any({ default: null, doc: 'no failure if it is not there' }),
        restrict: p.any({ default: null, doc: 'not if something depends on it' }),
        cascade: p.any({ default: null, doc: 'with what depends on it' }),
        ...connection,
      },
      run(args, ctx) {
        const { if_exists, restrict, cascade } = args;
        const at = dbArgs(args);
        return removal(
          {
            what: `Extension ${args.name}`,
            name: args.name,
            exists: () => ctx.callWith('postgres.is_installed_extension', [args.name], at),
            remove: () => ctx.callWith('postgres.drop_extension', [args.name], { if_exists, restrict, cascade, ...at }),
          },
          ctx,
        );
      },
    }),
  },
});
