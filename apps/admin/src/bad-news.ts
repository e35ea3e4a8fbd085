/** The command did what it was told, and what it found is bad: the answer is printed as it is, with exit code 1. */
export class BadNews extends Error {
  override name = 'BadNews';
  constructor(readonly answer: Record<string, unknown>) {
    super('what was found is bad news');
  }
}
