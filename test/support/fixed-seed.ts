// Property tests draw the same values in every run, so that a failure is one of the change and not of the day. Another
// seed by hand: HALITE_SEED=5 npx vitest run --project unit.
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['HALITE_SEED'] ?? 1) });
