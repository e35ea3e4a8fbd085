/**
 * What a batch file may hold. `rows` is the contract's (part 2 §5). The other two only keep a hostile or broken file from
 * exploding: Excel's longest cell, and more columns than anybody means (what lies further right counts only when it is
 * not empty, since Excel likes to write thousands of empty cells).
 */
export const BATCH_LIMITS = { rows: 10_000, columns: 1_000, cellCharacters: 32_767 } as const;
