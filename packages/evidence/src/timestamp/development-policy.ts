/**
 * The policy of tokens that prove nothing. It spells "development" in ASCII below the arc 2.999, which the registry keeps
 * for examples, so that no real authority can have it.
 */
export const DEVELOPMENT_POLICY = ['2.999', ...Buffer.from('development')].join('.');
