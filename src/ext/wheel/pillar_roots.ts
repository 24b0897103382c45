// Wheel `pillar_roots`: the files that pillars are made of, for programs.
import { rootsWheel } from './support/roots.ts';

export default rootsWheel('pillar_roots', 'the files that pillars are made of');
