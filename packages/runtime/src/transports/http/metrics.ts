/** What happened so far, as Prometheus reads it. */
export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #gauges = new Map<string, { readonly help: string; readonly value: () => number }>();

  gauge(name: string, help: string, value: () => number): void {
    this.#gauges.set(name, { help, value });
  }

  /** `route` is the operation, never a path: those hold ids. */
  answered(route: string, status: number): void {
    const key = `route="${route}",status="${status}"`;
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
  }

  get text(): string {
    const lines = [
      "# HELP outrider_http_requests_total Requests that were answered.",
      "# TYPE outrider_http_requests_total counter",
      ...[...this.#requests].map(([labels, count]) => `outrider_http_requests_total{${labels}} ${count}`),
    ];
    for (const [name, { help, value }] of this.#gauges)
      lines.push(`# HELP outrider_${name} ${help}`, `# TYPE outrider_${name} gauge`, `outrider_${name} ${value()}`);
    return `${lines.join("\n")}\n`;
  }
}
