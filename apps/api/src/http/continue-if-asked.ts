import type { Request, Response } from 'express';

/**
 * Tells a client that asked first (`Expect: 100-continue`) to send its body. Whoever reads a body calls this right before,
 * so that a body which is refused by its headers is never sent.
 */
export const continueIfAsked = (req: Request, res: Response): void => {
  if (req.headers.expect === undefined) return;
  // Answered: what is refused from here on has a body under way.
  delete req.headers.expect;
  res.writeContinue();
};
