/** The part of a secret that stays readable: its first 8 characters. Source: contract part 1 §2 and §8. */
export const secretPrefix = (secret: string): string => secret.slice(0, 8);
