import { describe, expect, it } from 'vitest'
import { backoff, LiveSocket, type SocketState, type World } from './socket'

class Wire {
  readyState = 1
  sent: string[] = []
  onopen: (() => void) | null = null
  onmessage: ((event: { data: string }) => void) | null = null
  onclose: (() => void) | null = null
  send(text: string): void {
    this.sent.push(text)
  }
  close(): void {
    this.readyState = 3
  }
}

function stage(ticket: () => Promise<string> = () => Promise.resolve('t')) {
  const wires: Wire[] = []
  const timers: { run: () => void; wait: number }[] = []
  const states: SocketState[] = []
  const heard: string[] = []
  const world: World = {
    ticket,
    open: () => {
      const wire = new Wire()
      wires.push(wire)
      return wire as unknown as WebSocket
    },
    later: (run, wait) => timers.push({ run, wait }),
    forget: () => timers.splice(0),
    random: () => 1,
  }
  const socket = new LiveSocket(world, { state: (state) => states.push(state), message: (text) => heard.push(text) })
  return { socket, wires, timers, states, heard }
}

const settled = () => new Promise((resume) => setTimeout(resume, 0))

describe('backoff', () => {
  it('doubles up to a limit, and is spread over half of it', () => {
    expect([0, 1, 2, 3].map((attempt) => backoff(attempt, 1))).toEqual([500, 1000, 2000, 4000])
    expect(backoff(50, 1)).toBe(15_000)
    expect(backoff(2, 0)).toBe(1000)
  })
})

describe('LiveSocket', () => {
  it('is live only once something was heard', async () => {
    const { socket, wires, states, heard } = stage()
    socket.start()
    await settled()
    expect(states).toEqual(['connecting'])
    wires[0]?.onmessage?.({ data: 'x' })
    expect(states.at(-1)).toBe('live')
    expect(heard).toEqual(['x'])
  })

  it('comes back with longer and longer waits, and starts over when it was live', async () => {
    const { socket, wires, timers, states } = stage()
    socket.start()
    await settled()
    for (const wait of [500, 1000, 2000]) {
      wires.at(-1)?.onclose?.()
      expect(states.at(-1)).toBe('waiting')
      expect(timers.at(-1)?.wait).toBe(wait)
      timers.at(-1)?.run()
      await settled()
    }
    wires.at(-1)?.onmessage?.({ data: 'x' })
    wires.at(-1)?.onclose?.()
    expect(timers.at(-1)?.wait).toBe(500)
  })

  it('waits as well when there is no ticket', async () => {
    const { socket, timers, states } = stage(() => Promise.reject(new Error('away')))
    socket.start()
    await settled()
    expect(states).toEqual(['connecting', 'waiting'])
    expect(timers).toHaveLength(1)
  })

  it('says again what it wants to hear', async () => {
    const { socket, wires, timers } = stage()
    socket.subscribe({ subscribe: ['refusals'] })
    socket.start()
    await settled()
    wires[0]?.onopen?.()
    wires[0]?.onclose?.()
    timers.at(-1)?.run()
    await settled()
    wires[1]?.onopen?.()
    expect(wires.map((wire) => wire.sent)).toEqual([['{"subscribe":["refusals"]}'], ['{"subscribe":["refusals"]}']])
  })

  it('does not come back once it was stopped', async () => {
    const { socket, wires, timers, states } = stage()
    socket.start()
    await settled()
    socket.stop()
    wires[0]?.onclose?.()
    expect(timers).toHaveLength(0)
    expect(states.at(-1)).toBe('closed')
  })

  it('gives up a connection that is silent, and does not listen to it any more', async () => {
    const { socket, wires, timers, heard } = stage()
    socket.start()
    await settled()
    wires[0]?.onmessage?.({ data: 'old' })
    socket.restart()
    expect(wires[0]?.readyState).toBe(3)
    expect(timers).toHaveLength(1)
    wires[0]?.onmessage?.({ data: 'late' })
    expect(heard).toEqual(['old'])
  })
})
