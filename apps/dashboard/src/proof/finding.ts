/** One thing that was looked at, and whether it holds. */
export type Finding = { holds: boolean; text: string };
