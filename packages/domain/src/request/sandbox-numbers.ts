/** National parts that a test key may send in any country's syntax. */
export const SANDBOX_NUMBERS: readonly string[] = [
  ...['100', '101', '102', '103', '200', '201', '202', '300', '301', '302'],
  ...['400', '401', '500', '501', '600', '601', '700', '701'],
];
