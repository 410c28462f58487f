"""Clients that mean harm: each repeats its order, and connects again at once when it is closed."""

import multiprocessing
import os
import select
import time


class Crowd:
    """So many clients in processes of their own.

    `connect(number)` gives a socket that does not block; `orders[number % len(orders)]` is what it sends: (name, bytes, whether it sends
    them again and again, whether it reads).
    """

    def __init__(self, connect, orders, count, processes=2, user=0):
        self.connect, self.orders, self.user = connect, orders, user
        self.over = multiprocessing.Event()
        self.ended = multiprocessing.Value("i", 0)
        numbers = [range(part, count, processes) for part in range(processes)]
        self.processes = [multiprocessing.Process(target=self.run, args=(some,), daemon=True) for some in numbers]

    def start(self):
        for process in self.processes:
            process.start()

    def stop(self):
        self.over.set()
        for process in self.processes:
            process.join(10)
            process.kill()

    def run(self, numbers):
        if self.user:
            os.setgid(self.user)
            os.setuid(self.user)
        self.poll, self.clients = select.epoll(), {}
        missing = list(numbers)
        while not self.over.is_set():
            missing = [number for number in missing if not self.open(number)]
            for descriptor, events in self.poll.poll(0.1):
                client, number, at = self.clients[descriptor]
                if not self.serve(descriptor, events):
                    self.poll.unregister(descriptor)
                    client.close()
                    del self.clients[descriptor]
                    missing.append(number)
                    with self.ended.get_lock():
                        self.ended.value += 1
            time.sleep(0.005)

    def open(self, number):
        try:
            client = self.connect(number)
        except OSError:
            return False
        _, data, _, reads = self.orders[number % len(self.orders)]
        self.clients[client.fileno()] = [client, number, 0]
        self.poll.register(client.fileno(), (select.EPOLLIN if reads else 0) | (select.EPOLLOUT if data else 0))
        return True

    def serve(self, descriptor, events):
        """Reads and sends what it can; false if the connection is over."""
        client, number, at = self.clients[descriptor]
        name, data, repeats, _ = self.orders[number % len(self.orders)]
        if events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR):
            try:
                if not client.recv(1 << 16) or name == "hasty":
                    return False
            except BlockingIOError:
                pass
            except OSError:
                return False
        if events & select.EPOLLOUT:
            try:
                at += client.send(data[at:])
            except BlockingIOError:
                pass
            except OSError:
                return False
            if at >= len(data):
                at = 0
                if not repeats:
                    self.poll.modify(descriptor, select.EPOLLIN)
            self.clients[descriptor][2] = at
        return True
