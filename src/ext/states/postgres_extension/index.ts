// State module `postgres_extension`: extensions in databases of PostgreSQL.
import { asList, defineState, needsFunction, p, resource, state } from 'halite/sdk';
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
      doc: 'An extension that must be installed.',
      examples: ['hstore:\n  postgres_extension.present:\n    - maintenance_db: shop'],
      params: {
        name,
        if_not_exists: p.scalar({ default: null, doc: 'no failure if it is there' }),
        schema: p.scalar({ default: null, doc: 'schema it is in' }),
        ext_version: p.scalar({ default: null, doc: 'its version' }),
        from_version: p.scalar({ default: null, doc: 'version that was installed without the extension mechanism' }),
        ...connection,
      },
      run(args, ctx) {
        const { name, if_not_exists, schema, ext_version, from_version } = args;
        const at = dbArgs(args);
        return resource(ctx, {
          find: () => ctx.callWith('postgres.create_metadata', [name], { schema, ext_version, ...at }),
          compare(known) {
            const flags = asList(known) ?? [];
            if (flags.includes(notInstalled)) return 'install';
            return flags.includes(installedState) && flags.length > 1 ? 'upgrade' : '';
          },
          change: () =>
            ctx.callWith('postgres.create_extension', [], {
              ...{ name, if_not_exists, schema, ext_version, from_version },
              ...at,
            }),
          changes: ({ difference: mode }) => ({ [name]: mode === 'install' ? 'Installed' : 'Upgraded' }),
          right: `Extension ${name} is already present`,
          would: ({ difference: mode }) =>
            `Extension ${name} is set to be ${mode === 'install' ? 'installed' : 'upgraded'}`,
          done: ({ difference: mode }) =>
            `The extension ${name} has been ${mode === 'install' ? 'installed' : 'upgraded'}`,
          failed: ({ difference: mode }) => `Failed to ${mode} extension ${name}`,
        });
      },
    }),
    absent: state({
      doc: 'An extension that must not be installed.',
      examples: ['hstore:\n  postgres_extension.absent:\n    - maintenance_db: shop'],
      params: {
        name,
        if_exists: p.scalar({ default: null, doc: 'no failure if it is not there' }),
        restrict: p.scalar({ default: null, doc: 'refuse if something depends on it' }),
        cascade: p.scalar({ default: null, doc: 'with everything that depends on it' }),
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
