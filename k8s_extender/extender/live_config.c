/* SPDX-License-Identifier: MIT */
#include "k8s_extender/extender/live_config.h"
#include "base/memory.h"
#include "base/name_index.h"
#include "base/text_file.h"
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

struct held_config {
    struct admin_config *config;
    unsigned holders; /* the live_config itself is one while it is the newest */
    struct held_config *older;
};

struct file_mark { /* enough to see that a file is another one */
    dev_t device;
    ino_t inode;
    off_t bytes;
    struct timespec changed;
};

struct live_config {
    pthread_mutex_t lock;
    const char *path;
    bool may_be_missing;
    struct file_mark mark; /* all 0: there was no file */
    struct held_config *newest;
};

static void mark_file(const char *path, struct file_mark *ret)
{
    struct stat status;
    *ret = (struct file_mark){.device = 0};
    if (stat(path, &status) == 0)
        *ret = (struct file_mark){.device = status.st_dev,
                                  .inode = status.st_ino,
                                  .bytes = status.st_size,
                                  .changed = status.st_mtim};
}

static bool same_mark(const struct file_mark *left, const struct file_mark *right)
{
    return left->device == right->device && left->inode == right->inode &&
           left->bytes == right->bytes && left->changed.tv_sec == right->changed.tv_sec &&
           left->changed.tv_nsec == right->changed.tv_nsec;
}

static struct admin_config *read_file(const struct live_config *live, struct error_info *err)
{
    size_t bytes;
    if (live->may_be_missing && access(live->path, F_OK) < 0 && errno == ENOENT)
        return admin_config_default(err);
    CLEANUP_MEMORY char *text = text_file_read(live->path, ADMIN_CONFIG_MAXIMUM_BYTES, &bytes, err);
    return text ? admin_config_parse(text, bytes, live->path, err) : NULL;
}

static int take_newest(struct live_config *live, struct admin_config *config,
                       struct error_info *err)
{
    struct held_config *held = memory_allocate(sizeof(*held));
    if (!held) {
        admin_config_free(config);
        return error_set_memory(err);
    }
    *held = (struct held_config){.config = config, .holders = 1, .older = live->newest};
    live->newest = held;
    return 0;
}

static void drop_holder(struct live_config *live, const struct admin_config *config)
{
    for (struct held_config **at = &live->newest; *at; at = &(*at)->older) {
        struct held_config *held = *at;
        if (held->config != config)
            continue;
        if (--held->holders == 0) {
            *at = held->older;
            admin_config_free(held->config);
            memory_free(held);
        }
        return;
    }
}

struct live_config *live_config_create(const char *path, struct error_info *err)
{
    struct live_config *live = memory_allocate(sizeof(*live));
    if (!live)
        return error_null(error_set_memory(err));
    live->may_be_missing = !path;
    live->path = path ? path : ADMIN_CONFIG_DEFAULT_PATH;
    pthread_mutex_init(&live->lock, NULL);
    mark_file(live->path, &live->mark);
    struct admin_config *config = read_file(live, err);
    if (!config || take_newest(live, config, err) < 0) {
        live_config_free(live);
        return NULL;
    }
    return live;
}

void live_config_free(struct live_config *live)
{
    if (!live)
        return;
    if (live->newest)
        drop_holder(live, live->newest->config);
    pthread_mutex_destroy(&live->lock);
    memory_free(live);
}

/* The one that was the newest loses its holder once another is in front of it. */
static int replace(struct live_config *live, struct admin_config *config, struct error_info *err)
{
    const struct admin_config *before = live->newest->config;
    if (take_newest(live, config, err) < 0)
        return -1;
    drop_holder(live, before);
    return 0;
}

int live_config_refresh(struct live_config *live, bool *ret_changed, struct error_info *err)
{
    struct file_mark mark;
    *ret_changed = false;
    mark_file(live->path, &mark);
    if (same_mark(&mark, &live->mark))
        return 0;
    live->mark = mark;
    struct admin_config *config = read_file(live, err);
    if (!config)
        return -1;
    pthread_mutex_lock(&live->lock);
    int status = replace(live, config, err);
    pthread_mutex_unlock(&live->lock);
    *ret_changed = status == 0;
    return status;
}

const struct admin_config *live_config_take(struct live_config *live)
{
    pthread_mutex_lock(&live->lock);
    live->newest->holders++;
    const struct admin_config *config = live->newest->config;
    pthread_mutex_unlock(&live->lock);
    return config;
}

void live_config_give(struct live_config *live, const struct admin_config *snapshot)
{
    pthread_mutex_lock(&live->lock);
    drop_holder(live, snapshot);
    pthread_mutex_unlock(&live->lock);
}
