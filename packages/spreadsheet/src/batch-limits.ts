/**
 * What a batch file may hold. `rows` is the contract's (part 2 §5). `columns` only keeps a hostile file from exploding, whose
 * results have every row as wide as the widest: more columns than anybody means (what lies further right counts only when
 * it is not empty, since Excel likes to write thousands of empty cells). A cell may be as long as the file.
 */
export const BATCH_LIMITS = { rows: 10_000, columns: 1_000 } as const;
