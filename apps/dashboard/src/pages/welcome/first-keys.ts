/** The two keys of a new account, which only the answer of signing up holds. */
export type FirstKeys = { live_key: string; test_key: string };

/** Under which they are remembered until the page is loaded anew. */
export const FIRST_KEYS = ['first-keys'] as const;
