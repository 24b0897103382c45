// Returner `mysql`: results, jobs and events in the three tables of Salt's MySQL returner.
import { defineReturner, p } from 'halite/sdk';
import { mysqlDialect, openMysql } from './shared/mysql-client.ts';
import { tableSession } from './shared/salt-tables.ts';

export default defineReturner({
  name: 'mysql',
  doc: 'Stores results, jobs and events in MySQL or MariaDB, in the tables jids, salt_returns and salt_events.',
  keeps: ['jobs', 'events'],
  options: {
    host: p.string({ default: 'salt', doc: 'server' }),
    user: p.string({ default: 'salt', doc: 'user' }),
    pass: p.string({ default: 'salt', doc: 'password' }),
    db: p.string({ default: 'salt', doc: 'database' }),
    port: p.int({ default: 3306, doc: 'port' }),
    unix_socket: p.string({ default: null, doc: 'socket of a server on this machine, instead of host and port' }),
    ssl_ca: p.string({ default: null, doc: 'file with the CA certificates' }),
    ssl_cert: p.string({ default: null, doc: 'file with the certificate of this client' }),
    ssl_key: p.string({ default: null, doc: 'file with its key' }),
  },
  async open(options, ctx) {
    const client = await openMysql('mysql', options);
    return tableSession({
      ...{ client, dialect: mysqlDialect, masterId: ctx.id },
      archive: ctx.opts['archive_jobs'] === true,
    });
  },
});
