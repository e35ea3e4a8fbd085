// What of the domain a page can load too: nothing here reaches Node, and nothing is heavy.
export * from './account/plans.js';
export * from './errors.js';
export * from './member-states.js';
