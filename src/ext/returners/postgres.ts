// Returner `postgres`: results, jobs and events in PostgreSQL, with the options `returner.postgres.…`.
import { defineReturner } from 'halite/sdk';
import { postgresSpec } from './shared/postgres-returner.ts';

export default defineReturner({ ...postgresSpec('postgres'), optionPrefix: 'returner.postgres' });
