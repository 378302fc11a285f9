import { greet } from "greet";

export function open(customer) {
  return `${greet(customer)}!`;
}
