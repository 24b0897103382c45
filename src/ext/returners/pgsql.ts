// Returner `pgsql`: the same as `postgres`, with the options `pgsql.…`.
import { defineReturner } from 'halite/sdk';
import { postgresSpec } from './shared/postgres-returner.ts';

export default defineReturner(postgresSpec('pgsql'));
