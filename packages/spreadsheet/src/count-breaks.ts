/** Line breaks in `text`: CR LF, a lone CR or a lone LF, each counted once. */
export const countBreaks = (text: string): number => text.match(/\r\n|\r|\n/g)?.length ?? 0;
