// nccl.cpp -- NCCL's sends and receives between processes that have a processor in the place of a
// device: a pipe for each pair of them, in a folder of the communicator.
#include "tests/device/kernels.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

struct id {
    char folder[128];
};

struct communicator {
    std::string folder;
    int rank, count;
    std::vector<int> to, from; // pipes by peer
};

struct part {
    int pipe;
    bool sends;
    char *at;
    size_t left;
};

std::vector<part> group;

std::string pipe_of(const communicator &c, int from, int to) {
    return c.folder + "/" + std::to_string(from) + "-" + std::to_string(to);
}

int open_pipe(const std::string &name) {
    mkfifo(name.c_str(), 0600); // whoever comes first
    return open(name.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

// All at once, those of one pipe in their order.
void transfer(std::vector<part> parts) {
    for (bool any = true; any;) {
        any = false;
        for (size_t k = 0; k < parts.size(); k++) {
            part &p = parts[k];
            bool waits = p.left == 0;
            for (size_t i = 0; i < k; i++) {
                waits = waits || (parts[i].pipe == p.pipe && parts[i].left > 0);
            }
            const ssize_t done = waits     ? 0
                                 : p.sends ? write(p.pipe, p.at, p.left)
                                           : read(p.pipe, p.at, p.left);
            if (done < 0 && errno != EAGAIN && errno != EINTR) {
                perror("a pipe between devices");
                abort();
            }
            p.at += done > 0 ? done : 0;
            p.left -= done > 0 ? done : 0;
            any = any || p.left > 0;
        }
        sched_yield();
    }
}

int add(bool sends, void *at, size_t bytes, int peer, const communicator *c) {
    group.push_back({sends ? c->to[peer] : c->from[peer], sends, (char *)at, bytes});
    return 0;
}

} // namespace

extern "C" {

int ncclGetUniqueId(id *made) {
    snprintf(made->folder, sizeof made->folder, "%s", device::make_folder().c_str());
    return made->folder[0] ? 0 : 1;
}
int ncclCommInitRank(void **made, int count, id from, int rank) {
    communicator *c = new communicator{from.folder, rank, count, {}, {}};
    for (int peer = 0; peer < count; peer++) {
        c->to.push_back(open_pipe(pipe_of(*c, rank, peer)));
        c->from.push_back(open_pipe(pipe_of(*c, peer, rank)));
    }
    *made = c;
    return 0;
}
int ncclCommDestroy(void *comm) {
    communicator *c = (communicator *)comm;
    for (int peer = 0; peer < c->count; peer++) {
        close(c->to[peer]);
        close(c->from[peer]);
        unlink(pipe_of(*c, peer, c->rank).c_str());
    }
    rmdir(c->folder.c_str()); // by the last one
    delete c;
    return 0;
}
int ncclGroupStart() {
    group.clear();
    return 0;
}
int ncclGroupEnd() {
    device::later([parts = group] { transfer(parts); });
    return 0;
}
int ncclSend(const void *from, size_t count, int, int peer, void *comm, cudaStream_t) {
    return add(true, (void *)from, count, peer, (const communicator *)comm);
}
int ncclRecv(void *to, size_t count, int, int peer, void *comm, cudaStream_t) {
    return add(false, to, count, peer, (const communicator *)comm);
}
// The least of one number of 64 bits.
int ncclAllReduce(const void *from, void *to, size_t, int, int, void *comm, cudaStream_t) {
    const communicator *c = (const communicator *)comm;
    device::later([=] {
        std::vector<int64_t> all(c->count, *(const int64_t *)from);
        std::vector<part> parts;
        int64_t own = all[0];
        for (int peer = 0; peer < c->count; peer++) {
            if (peer != c->rank) {
                parts.push_back({c->to[peer], true, (char *)&own, sizeof own});
                parts.push_back({c->from[peer], false, (char *)&all[peer], sizeof own});
            }
        }
        transfer(parts);
        *(int64_t *)to = *std::min_element(all.begin(), all.end());
    });
    return 0;
}
const char *ncclGetErrorString(int) {
    return "an error";
}
}
