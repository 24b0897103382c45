// Wheel `pillar_roots`: the files of the pillar roots, for programs.
import { rootsWheel } from './shared/roots.ts';

export default rootsWheel('pillar_roots', 'the files that pillars are made of');
