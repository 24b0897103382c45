// The tiers of `npm test`, in the order in which they run; vitest.config.ts says which files belong to each.
export const tiers = ['unit', 'integration', 'stories', 'backends', 'old-minions', 'interop'];
