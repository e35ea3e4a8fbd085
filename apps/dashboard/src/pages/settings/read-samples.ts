type Sample = { name: string; code: string };

/** The programs of the section “Verify it”: the first code block below each third-level heading. */
export const readSamples = (guide: string): Sample[] => {
  const section = guide.split(/^## /m).find((part) => part.startsWith('Verify it')) ?? '';
  return section
    .split(/^### /m)
    .slice(1)
    .flatMap((part) => {
      const name = part.slice(0, part.indexOf('\n')).trim();
      const code = /^```\w*\n([\s\S]*?)^```/m.exec(part)?.[1];
      return code === undefined ? [] : [{ name, code }];
    });
};
