// Only in builds with the thread sanitizer, which does not know C11's <threads.h>: a thread that it did not
// see begin ends in a crash.  librdkafka uses these; here they become the POSIX calls that it does know.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t) && sizeof(cnd_t) >= sizeof(pthread_cond_t), "sizes");

struct start {
  thrd_start_t function;
  void* argument;
};

static void* run(void* opaque) {
  struct start start = *(struct start*)opaque;
  free(opaque);
  return (void*)(long)start.function(start.argument);
}

static int result_of(int error) {
  if (error == 0) return thrd_success;
  if (error == ETIMEDOUT) return thrd_timedout;
  return error == ENOMEM || error == EAGAIN ? thrd_nomem : thrd_error;
}

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  struct start* start = malloc(sizeof *start);
  if (start == NULL) return thrd_nomem;
  *start = (struct start){function, argument};
  const int error = pthread_create((pthread_t*)thread, NULL, run, start);
  if (error != 0) free(start);
  return result_of(error);
}

int thrd_join(thrd_t thread, int* result) {
  void* value = NULL;
  const int error = pthread_join((pthread_t)thread, &value);
  if (result != NULL) *result = (int)(long)value;
  return result_of(error);
}

int mtx_init(mtx_t* mutex, int type) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if ((type & mtx_recursive) != 0) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  const int error = pthread_mutex_init((pthread_mutex_t*)mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return result_of(error);
}
int mtx_lock(mtx_t* mutex) {
  return result_of(pthread_mutex_lock((pthread_mutex_t*)mutex));
}
int mtx_unlock(mtx_t* mutex) {
  return result_of(pthread_mutex_unlock((pthread_mutex_t*)mutex));
}
void mtx_destroy(mtx_t* mutex) {
  pthread_mutex_destroy((pthread_mutex_t*)mutex);
}

int cnd_init(cnd_t* condition) {
  return result_of(pthread_cond_init((pthread_cond_t*)condition, NULL));
}
int cnd_signal(cnd_t* condition) {
  return result_of(pthread_cond_signal((pthread_cond_t*)condition));
}
int cnd_broadcast(cnd_t* condition) {
  return result_of(pthread_cond_broadcast((pthread_cond_t*)condition));
}
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return result_of(pthread_cond_wait((pthread_cond_t*)condition, (pthread_mutex_t*)mutex));
}
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const struct timespec* until) {
  return result_of(pthread_cond_timedwait((pthread_cond_t*)condition, (pthread_mutex_t*)mutex, until));
}
void cnd_destroy(cnd_t* condition) {
  pthread_cond_destroy((pthread_cond_t*)condition);
}

// librdkafka counts references with atomics that the sanitizer can't see, so the order between the last use
// of a message and its release looks missing.
const char* __tsan_default_suppressions(void);
const char* __tsan_default_suppressions(void) {
  return "called_from_lib:librdkafka.so\n";
}
