const CR = 13;
const LF = 10;

/** Line breaks in `text`: CR LF, a lone CR or a lone LF, each counted once. A loop, because a list of two million matches costs memory. */
export const countBreaks = (text: string): number => {
  let breaks = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === LF || (code === CR && text.charCodeAt(at + 1) !== LF)) breaks += 1;
  }
  return breaks;
};
