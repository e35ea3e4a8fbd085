/** The pages one can always go to, by the names of contract part 2 §9. */
export const NAVIGATION = [
  { to: '/', name: 'Overview' },
  { to: '/checks', name: 'Checks' },
  { to: '/batches', name: 'Batches' },
  { to: '/watches', name: 'Watches' },
  { to: '/evidence', name: 'Evidence' },
  { to: '/deliveries', name: 'Deliveries' },
  { to: '/settings', name: 'Settings' },
] as const;
